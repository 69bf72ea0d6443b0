import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { root } from '../start/paths.mjs';
import { findKubernetesTool } from './kubernetes-tools.mjs';

export const overlays = ['local', 'production'];
export const components = readdirSync(join(root, 'k8s', 'components')).sort();

/** Builds a folder with kustomize. Returns null when there is no kubectl. */
function build(folder) {
  const kubectl = findKubernetesTool('kubectl');
  return kubectl && execFileSync(kubectl, ['kustomize', folder], { encoding: 'utf8' });
}

export const buildOverlay = (overlay) => build(join(root, 'k8s', 'overlays', overlay));

/**
 * Builds the production overlay with other components than its own. Returns null without kubectl.
 */
export function buildProductionWith(components) {
  const overlay = join(root, 'k8s', 'overlays', 'production');
  const folder = mkdtempSync(join(tmpdir(), 'parley-overlay-'));
  try {
    const kustomization = parse(readFileSync(join(overlay, 'kustomization.yaml'), 'utf8'));
    const pathOf = (path) => relative(folder, join(overlay, path));
    // Kustomize reads files of the overlay's own folder only.
    const resources = kustomization.resources.map((path) => {
      if (path.startsWith('..')) return pathOf(path);
      cpSync(join(overlay, path), join(folder, path));
      return path;
    });
    const paths = components.map((component) => pathOf(join('..', '..', 'components', component)));
    const changed = { ...kustomization, resources, components: paths };
    writeFileSync(join(folder, 'kustomization.yaml'), stringify(changed));
    return build(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const nameOf = ({ kind, metadata }) => `${kind}/${metadata.name}`;

/**
 * Builds the base with a component. Returns the objects that the component adds, changes and
 * removes, or null without kubectl.
 */
export function buildComponent(component) {
  const folder = mkdtempSync(join(tmpdir(), 'parley-component-'));
  try {
    const pathOf = (...path) => relative(folder, join(root, 'k8s', ...path));
    const kustomization = { namespace: 'parley', resources: [pathOf('base')] };
    const buildWith = (more) => {
      writeFileSync(join(folder, 'kustomization.yaml'), stringify({ ...kustomization, ...more }));
      return build(folder);
    };
    const plain = buildWith({});
    if (plain === null) return null;
    const before = new Map(objectsOf(plain).map((object) => [nameOf(object), object]));
    const after = objectsOf(buildWith({ components: [pathOf('components', component)] }));
    const changed = after.filter(
      (object) => !isDeepStrictEqual(object, before.get(nameOf(object))),
    );
    const kept = new Set(after.map(nameOf));
    const removed = [...before.keys()].filter((name) => !kept.has(name));
    return [
      ...removed.map((name) => `# Without ${name}\n`),
      changed.map((object) => stringify(object, { lineWidth: 0 })).join('---\n'),
    ].join('');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const rendered = join(root, 'k8s', 'rendered');
export const renderedOverlay = (overlay) => join(rendered, `${overlay}.yaml`);
export const renderedComponent = (component) => join(rendered, 'components', `${component}.yaml`);

/**
 * Read the output of `node tools/manifests.mjs`, which is committed so that reviews show
 * the full change.
 */
export const readOverlay = (overlay) => readFileSync(renderedOverlay(overlay), 'utf8');
export const readComponent = (component) => readFileSync(renderedComponent(component), 'utf8');

/** @returns {any[]} the objects of a stream of YAML documents */
export const objectsOf = (text) => parseAllDocuments(text).map((document) => document.toJS());
