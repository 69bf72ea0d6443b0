/**
 * Sums the totals of jest (`Tests: …`), of Node's test runner (`# pass 3`) and of the planted
 * faults (`3 passed, 0 failed`) in the output of Nx, which also prints the output of cached tasks.
 * A task that fails without a failed test, such as a type error, counts as one failure.
 */
export function createTally() {
  const tasks = new Map();
  let current = { passed: 0, failed: 0 };
  return {
    /** @param {string} line */
    read(line) {
      const text = line.trim();
      const task = /^(?:>|✖|✔)?\s*nx run ([\w@/.-]+:[\w:.-]+)/.exec(text)?.[1];
      if (task) {
        current = tasks.get(task) ?? { passed: 0, failed: 0 };
        tasks.set(task, current);
      }
      if (text.startsWith('Tests:')) {
        current.passed += count(text, 'passed');
        current.failed += count(text, 'failed');
      }
      const [, passed, failed] = /^(\d+) passed, (\d+) failed$/.exec(text) ?? [];
      if (passed) {
        current.passed += Number(passed);
        current.failed += Number(failed);
      }
      const [, outcome, number] = /^[#ℹ] (pass|fail) (\d+)$/.exec(text) ?? [];
      if (outcome) current[outcome === 'pass' ? 'passed' : 'failed'] += Number(number);
      const failedTask = /^(?:-|✖)\s+([\w@/.-]+:[\w:.-]+)$/.exec(text)?.[1];
      if (failedTask)
        tasks.set(failedTask, { passed: 0, failed: 0, ...tasks.get(failedTask), hasFailed: true });
    },
    /**
     * @param {number} exitCode the exit code of Nx; at least one failure is counted
     *   when it is not 0
     */
    result(exitCode) {
      const all = [...tasks.values()];
      const sum = (name) => all.reduce((total, task) => total + task[name], 0);
      const failed =
        sum('failed') + all.filter((task) => task.hasFailed && task.failed === 0).length;
      return { passed: sum('passed'), failed: exitCode === 0 ? failed : Math.max(failed, 1) };
    },
  };
}

function count(text, word) {
  return Number(new RegExp(`(\\d+) ${word}`).exec(text)?.[1] ?? 0);
}
