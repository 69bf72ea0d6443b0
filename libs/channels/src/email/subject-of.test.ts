import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createSecretBox, createDb, type Db } from '@parley/db';
import { type SeededOrganization, openTestDatabase, seedOrganization } from '@parley/testing';
import { createChannels } from '../create-channels';
import { subjectOf } from './subject-of';

const hostile = 'Hello\r\nBcc: victim@example.com\u0000\u2028now';
const harmless = 'Hello Bcc: victim@example.com now';

test('a subject has one line and no control characters', () => {
  expect(subjectOf(hostile)).toBe(harmless);
  expect(subjectOf('Su pedido 42 — ¡listo! 🎉')).toBe('Su pedido 42 — ¡listo! 🎉');
});

describe('what the provider receives', () => {
  let db: Db;
  let org: SeededOrganization;
  const subjects: unknown[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    subjects.push((JSON.parse(text) as { subject: string }).subject);
    response.setHeader('Content-Type', 'application/json').end('{"id":"re_1"}');
  });

  beforeAll(async () => {
    db = await openTestDatabase(createDb);
    org = await seedOrganization(db.pool);
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  });
  afterAll(async () => {
    server.closeAllConnections();
    server.close();
    await db.close();
  });

  test('is the subject on one line, whichever way an e-mail is sent', async () => {
    const channels = createChannels({
      db,
      box: createSecretBox(Buffer.alloc(32).toString('base64')),
      settings: {
        RESEND_API_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        RESEND_API_KEY: 'r',
        EMAIL_FROM: 'a@b.cl',
        KAPSO_API_URL: 'http://127.0.0.1:9',
      },
      log: { warn: () => {} },
    });
    const email = { to: ['c@d.cl'], subject: hostile, content: { text: 'Hello' } };
    expect(await channels.sendEmail(org.scope, email)).toMatchObject({
      ok: true,
      email: { status: 'sent' },
    });
    const mail = (await channels.mailOfEnvironment(org.scope))!;
    expect(await mail.send({ to: 'c@d.cl', subject: hostile, text: 'Hello' })).toBe(true);
    expect(subjects).toEqual([harmless, harmless]);
    const { rows } = await db.pool.query('select subject from emails where tenant = $1', [
      org.scope.tenant,
    ]);
    expect(rows).toEqual([{ subject: harmless }]);
  });
});
