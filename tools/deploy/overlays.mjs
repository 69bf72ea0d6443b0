import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { root } from '../start/paths.mjs';

export const overlays = ['local', 'production'];

const fileOf = (overlay) => join(root, 'k8s', 'rendered', `${overlay}.yaml`);

/** An overlay as kustomize builds it, or null on a machine without kubectl. */
export function buildOverlay(overlay) {
  try {
    return execFileSync('kubectl', ['kustomize', join(root, 'k8s', 'overlays', overlay)], { encoding: 'utf8' });
  } catch (error) {
    if (error.code === 'ENOENT') return null;
    throw error;
  }
}

/** What `node tools/manifests.mjs` wrote: kept, so that a change shows in full, and readable without kubectl. */
export const readOverlay = (overlay) => readFileSync(fileOf(overlay), 'utf8');

export { fileOf as renderedFile };

/** @returns {any[]} the objects of a stream of YAML documents */
export const objectsOf = (text) => parseAllDocuments(text).map((document) => document.toJS());
