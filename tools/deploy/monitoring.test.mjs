import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { root } from '../start/paths.mjs';
import { exists, metricsIn } from './metrics.mjs';

const read = (path) => readFileSync(join(root, path), 'utf8');
const dashboard = JSON.parse(read('k8s/monitoring/dashboard.json'));
const { rules } = parse(read('k8s/monitoring/alerts.yaml')).groups[0];

test('the dashboard shows metrics that exist', () => {
  const targets = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  assert.ok(targets.length > 20);
  for (const expression of targets) {
    const metrics = metricsIn(expression);
    assert.ok(metrics.length > 0, expression);
    for (const metric of metrics) assert.ok(exists(metric), `${metric} in ${expression}`);
  }
});

test('alerts use metrics that exist, and have a summary', () => {
  assert.ok(rules.length >= 10);
  for (const { alert, expr, labels, annotations } of rules) {
    for (const metric of metricsIn(expr)) assert.ok(exists(metric), `${metric} in ${alert}`);
    assert.match(labels.severity, /^(warning|critical)$/);
    assert.ok(annotations.summary, alert);
  }
});

test('a metric that no process exports is detected', () => {
  assert.deepEqual(metricsIn('sum by (a) (rate(no_such_total{b="c"}[5m])) / 2 > 0.5'), [
    'no_such_total',
  ]);
  assert.equal(exists('no_such_total'), false);
});
