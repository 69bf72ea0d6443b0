import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { stopProcess } from '@parley/embedded';
import { until } from '@parley/testing';
import { openBrowser } from '../open-browser';
import {
  type TutorialStep,
  createFile,
  expectLines,
  openShell,
  readTutorial,
  typeCommands,
} from '../follow-tutorial';
import { installPackages, packPackages, root } from '../install-packages';
import { openPseudoTerminal } from '../pseudo-terminal';

jest.setTimeout(420_000);

/** A folder in the place of the clone: the packed command and the data of `npm start` are in it. */
const folder = mkdtempSync(join(tmpdir(), 'parley-tutorial-'));
const clone = join(folder, 'parley');
/** The first of the ports of a stack: below those that the system gives to clients (32768). */
const port = 15_000 + (process.pid % 80) * 200;
const { HOME, LANG } = process.env;
const env = {
  HOME,
  LANG,
  npm_config_prefer_offline: 'true',
  npm_config_update_notifier: 'false',
  PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
};
const stack = { output: '', child: undefined as ReturnType<typeof spawn> | undefined };

beforeAll(async () => {
  mkdirSync(clone);
  writeFileSync(join(clone, 'package.json'), '{"private":true}');
  await installPackages(clone, await packPackages('cli', 'definitions'));
}, 300_000);
afterAll(async () => {
  if (stack.child) await stopProcess(stack.child, 'SIGINT', 30_000);
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

let started: Promise<void> | undefined;

/** Runs `npm start` of the checkout on free ports, with its data in the clone. */
async function startStack(): Promise<void> {
  const args = [
    join(root, 'tools', 'start.mjs'),
    '--port',
    String(port),
    '--state',
    join(clone, '.parley'),
  ];
  stack.child = spawn(process.execPath, args, { cwd: root, env });
  for (const stream of [stack.child.stdout!, stack.child.stderr!])
    stream.setEncoding('utf8').on('data', (text: string) => (stack.output += text));
  const isThere = () =>
    stack.output.includes('Press Ctrl-C to stop') || stack.child!.exitCode !== null;
  await until(isThere, { limitMs: 180_000, everyMs: 100 });
  if (stack.child.exitCode !== null) throw new Error(`npm start ended:\n${stack.output}`);
}

/** The page uses the usual ports of `npm start`. */
const withPorts = (text: string) =>
  text.replaceAll(
    /(localhost:|serve\.mjs )400(\d)/g,
    (_, before, last) => `${before}${port + Number(last)}`,
  );

/** Opens the payment link in a browser, or without one as a form, and presses Pay. */
async function pay(link: string): Promise<void> {
  const browser = await openBrowser();
  if (browser === null) {
    const body = new URLSearchParams({
      token: new URL(link).searchParams.get('token')!,
      choice: 'pay',
    });
    expect((await fetch(new URL('/flow/pay', link), { method: 'POST', body })).status).toBe(200);
    return;
  }
  try {
    for (const width of [390, 1440]) {
      const context = await browser.newContext({
        javaScriptEnabled: false,
        viewport: { width, height: 800 },
      });
      const page = await context.newPage();
      await page.goto(link);
      expect(await page.getByRole('heading').textContent()).toBe('Dome tent');
      const { width: shown } = (await page.locator('body').boundingBox())!;
      expect(shown).toBeLessThanOrEqual(width);
      // The second visitor finds the payment paid.
      if (width === 390) await page.getByRole('button', { name: 'Pay' }).click();
      expect(await page.locator('main').textContent()).toMatch(
        /Paid[^]*Parley has received the result/,
      );
      expect(await page.getByRole('button').count()).toBe(0);
    }
  } finally {
    await browser.close();
  }
}

type Commands = Extract<TutorialStep, { kind: 'commands' }>;

/**
 * Follows a page of docs/tutorials: creates its files in the project and types its commands.
 * `around` may do something before or after the commands of a step; `type` types them and returns
 * what they print.
 */
async function follow(
  page: string,
  project: string,
  around: (step: Commands, type: () => Promise<string>) => Promise<unknown> = (_step, type) =>
    type(),
): Promise<void> {
  const terminal = openPseudoTerminal('bash --norc --noprofile -i', { cwd: clone, env });
  try {
    await openShell(terminal);
    for (const step of readTutorial(page)) {
      if (step.kind === 'file')
        createFile(join(clone, project), { ...step, content: withPorts(step.content) });
      else if (step.commands[0] === 'npm start') await (started ??= startStack());
      else
        await around(step, async () => {
          const printed = await typeCommands(terminal, step.commands.map(withPorts));
          expectLines(printed, step.expected.map(withPorts));
          return printed;
        });
    }
  } finally {
    terminal.kill();
  }
}

test('the link that npm start prints makes the first administrator, who gets an answer in the playground', async () => {
  await (started ??= startStack());
  const browser = await openBrowser();
  if (browser === null) return;
  try {
    const page = await (await browser.newContext({ locale: 'en-US' })).newPage();
    await page.goto(/http:\/\/localhost:\d+\/console\/#\/join\/[\w-]+/.exec(stack.output)![0]);
    await page.getByLabel('E-mail address').fill('first@example.com');
    await page.getByLabel('Password').fill('a long password');
    await page.getByRole('button', { name: /^Join/ }).click();
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    await page.getByRole('link', { name: 'Playground', exact: true }).click();
    await page
      .getByRole('textbox', { name: 'Message', exact: true })
      .fill('/tool entity.query {"type":"product","limit":1}');
    await page.keyboard.press('Enter');
    await page.getByText('entity.query returned:').waitFor();
  } finally {
    await browser.close();
  }
});

test('docs/tutorials/whatsapp-sales-agent.md works as it is written', async () => {
  let link: string | undefined;
  await follow('whatsapp-sales-agent', 'sales', async (step, type) => {
    if (step.commands[0] !== 'npx parley whatsapp messages') {
      link ??= /http:\/\/localhost:\d+\/flow\/pay\?token=\w+/.exec(await type())?.[0];
      return;
    }
    await pay(link!);
    // The confirmation is written a moment after the payment; a person needs longer to
    // type the command.
    const attempt = () =>
      type().then(
        () => null,
        (error: Error) => error,
      );
    await until(attempt, { isThere: (error) => error === null, limitMs: 60_000, everyMs: 500 });
  });
  expect(link).toBeDefined();
});

test('docs/tutorials/support-agent.md works as it is written', async () => {
  await follow('support-agent', 'helpdesk');
});

test('docs/tutorials/website-chat.md works as it is written', async () => {
  const answers: string[] = [];
  await follow('website-chat', '.', async (step, type) => {
    await type();
    if (!step.commands.at(-1)!.startsWith('node site/serve.mjs')) return;
    const browser = await openBrowser();
    if (browser === null) return;
    try {
      const page = await browser.newPage();
      await page.goto(withPorts('http://localhost:4008'));
      await page.getByRole('button', { name: 'Open chat' }).click();
      const input = page.getByRole('textbox', { name: 'Your message' });
      await input.fill('/tool entity.query {"type":"product","limit":1}');
      await input.press('Enter');
      await until(async () => (await page.locator('.entry:visible').count()) === 3, {
        limitMs: 30_000,
      });
      answers.push(...(await page.locator('.entry.agent .text').allInnerTexts()));
    } finally {
      await browser.close();
    }
  });
  if (answers.length > 0)
    expect(answers).toEqual([
      'Hello! How can we help you?',
      expect.stringContaining('"type":"product"'),
    ]);
});
