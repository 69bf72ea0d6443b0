// docs/outgoing-connections.md names every host that the code has an address of.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import ts from 'typescript';
import { root } from '../start/paths.mjs';
import { productionFiles } from './measure.mjs';

/** The hosts of addresses in strings and templates, by the file that has them. */
function hosts() {
  const found = new Map();
  for (const { path, source } of productionFiles()) {
    const visit = (node) => {
      if (
        ts.isStringLiteralLike(node) ||
        ts.isTemplateHead(node) ||
        ts.isTemplateMiddleOrTemplateTail(node)
      )
        for (const [, host] of node.text.matchAll(/\bhttps?:\/\/([a-z\d-]+(?:\.[a-z\d-]+)+)/gi))
          found.set(host, path);
      node.forEachChild(visit);
    };
    visit(source);
  }
  return found;
}

/**
 * Addresses that are not called: in examples, messages and names of formats, and of this machine.
 */
const notCalled =
  /(^|\.)(example|example\.com|invalid|test|localhost)$|^127\.|^json-schema\.org$|^www\.w3\.org$/;

test('the page of outgoing connections names every host in the code', () => {
  const page = readFileSync(join(root, 'docs/outgoing-connections.md'), 'utf8');
  const missing = [...hosts()].filter(
    ([host]) => !notCalled.test(host) && !page.includes(`\`${host}\``),
  );
  assert.deepEqual(missing, []);
});
