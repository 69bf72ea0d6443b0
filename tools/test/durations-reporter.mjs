import { relative } from 'node:path';
import { root } from '../start/paths.mjs';
import { writeDurations } from './durations.mjs';

/** Jest: writes how long each file took. */
export default class DurationsReporter {
  onRunComplete(_contexts, { testResults }) {
    const target = process.env.PARLEY_TEST_TARGET;
    if (target === undefined) return;
    const files = testResults.map(({ testFilePath, perfStats }) => ({
      target,
      path: relative(root, testFilePath),
      wallMs: perfStats.end - perfStats.start,
    }));
    writeDurations(`files-${target}`, { files });
  }
}
