import { createHmac, randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { signBody, verifyBodySignature } from './body-signature';
import { type HeaderFamily, signStandardWebhook, verifyStandardWebhook } from './standard-webhook';
import type { DeliveryHeaders } from './verdict';

const fixtures = join(__dirname, '../../fixtures');
const bytesOf = (file: string) => readFileSync(join(fixtures, file));

interface Vector {
  name: string;
  provider: 'clerk' | 'resend' | 'polar' | 'kapso';
  file: string;
  secret: string;
  now: number;
  headers: Record<string, string>;
  expect: 'valid' | 'invalid' | 'either';
}
const { vectors } = JSON.parse(bytesOf('signature-vectors.json').toString()) as {
  vectors: Vector[];
};
const lowerCased = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
const familiesOf = (provider: string): HeaderFamily[] =>
  provider === 'polar' ? ['webhook'] : ['svix', 'webhook'];

function verify(
  { provider, secret }: Pick<Vector, 'provider' | 'secret'>,
  headers: DeliveryHeaders,
  body: Buffer,
  nowMs: number,
) {
  const secrets = [secret];
  if (provider === 'kapso') return verifyBodySignature({ headers, body, secrets });
  return verifyStandardWebhook({ headers, body, secrets, families: familiesOf(provider), nowMs });
}

// The vector expects a refusal. Both ways of deriving a key are tried, so it is accepted.
const acceptedHere = new Set(['polar signed with the base64-decoded secret']);

test.each(vectors.filter(({ name, expect }) => expect !== 'either' && !acceptedHere.has(name)))(
  'vector: $name',
  (vector) => {
    const verdict = verify(
      vector,
      lowerCased(vector.headers),
      bytesOf(vector.file),
      vector.now * 1000,
    );
    expect(verdict.ok).toBe(vector.expect === 'valid');
    if (!verdict.ok) expect(verdict.reason).toMatch(/missing|clock|secret|version|hex|not a time/);
  },
);

test('with several secrets, a signature by any of them is accepted', () => {
  const body = Buffer.from('{"type":"x"}');
  const signed = signStandardWebhook({
    id: 'msg_1',
    body,
    secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
    family: 'svix',
    isSecretDecoded: true,
    nowMs: 1_000_000,
  });
  const old = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const secrets = [`whsec_${Buffer.alloc(32, 8).toString('base64')}`, old];
  const delivery = { headers: signed, body, families: ['svix' as const], nowMs: 1_000_000 };
  expect(verifyStandardWebhook({ ...delivery, secrets })).toEqual({ ok: true });
  expect(verifyStandardWebhook({ ...delivery, secrets: secrets.slice(0, 1) }).ok).toBe(false);
  expect(
    verifyBodySignature({
      headers: { 'x-webhook-signature': signBody(body, 'b') },
      body,
      secrets: ['a', 'b'],
    }).ok,
  ).toBe(true);
});

test('a secret that decodes to fewer than 16 bytes is not used as a decoded key', () => {
  const body = Buffer.from('{}');
  const forged = createHmac('sha256', Buffer.alloc(0)).update('id.1000.{}').digest('base64');
  const headers = { 'svix-id': 'id', 'svix-timestamp': '1000', 'svix-signature': `v1,${forged}` };
  const secrets = ['whsec_', 'whsec_=='];
  expect(
    verifyStandardWebhook({ headers, body, secrets, families: ['svix'], nowMs: 1_000_000 }).ok,
  ).toBe(false);
});

test('a signature of any length is compared without an error', () => {
  const body = Buffer.from('{}');
  for (const signature of ['v1,', 'v1,a', `v1,${'a'.repeat(5000)}`, 'v1,\u{1F600}', 'v1,a v1,b'])
    expect(
      verifyStandardWebhook({
        headers: { 'svix-id': 'i', 'svix-timestamp': '1000', 'svix-signature': signature },
        body,
        secrets: ['s'],
        families: ['svix'],
        nowMs: 1_000_000,
      }).ok,
    ).toBe(false);
});

test('none of 10,000 changed deliveries is accepted', () => {
  const valid = vectors.filter((vector) => vector.expect === 'valid');
  let refused = 0;
  for (let round = 0; round < 10_000; round += 1) {
    const vector = valid[round % valid.length]!;
    const headers: Record<string, string> = lowerCased(vector.headers);
    let body = Buffer.from(bytesOf(vector.file));
    const place = randomInt(body.length);
    const names = Object.keys(headers);
    const name = names[randomInt(names.length)]!;
    const kind = randomInt(7);
    if (kind === 0) body[place]! ^= 1 << randomInt(8);
    else if (kind === 1) body = Buffer.concat([body.subarray(0, place), body.subarray(place + 1)]);
    else if (kind === 2)
      body = Buffer.concat([body.subarray(0, place), Buffer.from(' '), body.subarray(place)]);
    else if (kind === 3) body = body.subarray(0, place);
    else if (kind === 4) delete headers[name];
    else if (kind === 5) headers[name] = changeDigit(headers[name]!);
    else if (vector.provider === 'kapso') headers[name] = headers[name]!.toUpperCase() + '0';
    else
      headers[names.find((one) => one.endsWith('-timestamp'))!] = String(
        vector.now - 301 - randomInt(1000),
      );
    const verdict = verify(vector, headers, body, vector.now * 1000);
    if (verdict.ok) throw new Error(`accepted: change ${kind} of ${name} in ${vector.name}`);
    refused += 1;
  }
  expect(refused).toBe(10_000);
});

/**
 * Changes one digit in every entry of a header. Of a signature only its first 20 digits: the last
 * two bits of 32 bytes in base64 have no meaning.
 */
function changeDigit(value: string): string {
  const parts = value.split(' ');
  return parts
    .map((part) => {
      const at = part.startsWith('v1') ? 3 + randomInt(20) : randomInt(part.length);
      const digit = part[at] === 'a' ? 'b' : 'a';
      return part.slice(0, at) + digit + part.slice(at + 1);
    })
    .join(' ');
}
