import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { root } from '../start/paths.mjs';

export const overlays = ['local', 'production'];

const fileOf = (overlay) => join(root, 'k8s', 'rendered', `${overlay}.yaml`);

/** Builds an overlay with kustomize. Returns null when kubectl is not installed. */
export function buildOverlay(overlay) {
  try {
    return execFileSync('kubectl', ['kustomize', join(root, 'k8s', 'overlays', overlay)], { encoding: 'utf8' });
  } catch (error) {
    if (error.code === 'ENOENT') return null;
    throw error;
  }
}

/** Reads the output of `node tools/manifests.mjs`, which is committed so that reviews show the full change. */
export const readOverlay = (overlay) => readFileSync(fileOf(overlay), 'utf8');

export { fileOf as renderedFile };

/** @returns {any[]} the objects of a stream of YAML documents */
export const objectsOf = (text) => parseAllDocuments(text).map((document) => document.toJS());
