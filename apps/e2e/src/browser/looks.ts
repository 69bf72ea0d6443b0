import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '@parley/testing';
import type { Page } from 'playwright-core';
import { inBrowser, type Look, requestsUnderWay } from './console-kit';
import { useFullOrganization } from './full-organization';

const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

/** Whether the screen still says that it is loading, after the next frame is drawn. */
const isBusyAfterFrame = `new Promise((resolve) =>
  requestAnimationFrame(() => setTimeout(() => resolve(document.querySelector('main [aria-busy="true"]') !== null))))`;

/**
 * Waits until a screen shows what it has loaded: over several frames nothing is loading and no
 * request has begun.
 */
export async function waitForContent(page: Page): Promise<void> {
  await page.locator('main > *').first().waitFor();
  const isComplete = async () => {
    for (let frame = 0; frame < 4; frame += 1) {
      if ((await page.evaluate(isBusyAfterFrame)) || requestsUnderWay(page) > 0) return false;
    }
    return true;
  };
  await until(isComplete, { limitMs: 30_000 });
}

/** With PARLEY_SCREENSHOTS=folder the screens are kept as pictures. */
export async function takeScreenshot(page: Page, name: string): Promise<void> {
  const folder = process.env.PARLEY_SCREENSHOTS;
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`) });
}

/**
 * Nothing but violations is described, and they without selectors: to compute those took
 * most of the time.
 */
const axeOptions = "{ resultTypes: ['violations'], selectors: false }";

/**
 * The serious and critical violations of the accessibility rules on a page that was opened
 * with `bypassCSP`.
 */
export async function findViolations(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const { violations } = (await page.evaluate(`axe.run(${axeOptions})`)) as {
    violations: { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }[];
  };
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(
      ({ id, nodes }) =>
        `${id}: ${nodes.map((node) => `${node.html} ${node.failureSummary}`).join('\n')}`,
    );
}

/**
 * Every screen, full of hostile texts, in each look: nothing runs, nothing is wider than the page,
 * axe finds nothing grave.
 */
export function testLooks(
  looks: readonly Required<Pick<Look, 'width' | 'colorScheme' | 'locale'>>[],
): void {
  const { app, screens } = useFullOrganization();
  for (const look of looks) {
    const { width, colorScheme, locale } = look;
    inBrowser(
      `at ${width} px, ${colorScheme}, in ${locale}, hostile texts stay texts, nothing is wider than the page, and axe finds nothing serious`,
      async () => {
        const page = await app.open('', { ...look, bypassCSP: true });
        const found: string[] = [];
        for (const { name, path } of screens()) {
          app.complaints.length = 0;
          await page.goto(app.base() + path);
          await waitForContent(page);
          await takeScreenshot(page, `${name}-${width}-${colorScheme}`);
          if ((await page.evaluate('window.hurt')) !== undefined)
            found.push(`${name}: a text was run`);
          if (!(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')))
            found.push(`${name}: too wide`);
          found.push(
            ...[...app.complaints, ...(await findViolations(page))].map(
              (text) => `${name}: ${text}`,
            ),
          );
        }
        expect(found).toEqual([]);
      },
      300_000,
    );
  }
}
