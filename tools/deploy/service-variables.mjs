import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { loadTypescript } from '../start/load-typescript.mjs';
import { root } from '../start/paths.mjs';

/**
 * Reads the variables of all services from their configuration schemas.
 * @returns {Promise<Record<string, Record<string, { required: boolean, default?: unknown,
 *   description: string, type: string }>>>} by service, then by name
 */
export async function loadServiceVariables() {
  const services = readdirSync(join(root, 'apps')).filter((app) =>
    existsSync(join(root, 'apps', app, 'src/config.ts')),
  );
  const lines = services.map(
    (app, at) => `export * as config${at} from './apps/${app}/src/config';`,
  );
  const modules = await loadTypescript(lines.join('\n'), 'configs');
  return Object.fromEntries(
    services.map((service, at) => [service, describe(service, modules[`config${at}`])]),
  );
}

function describe(service, module) {
  const shapes = Object.entries(module).filter(([name]) => name.endsWith('Variables'));
  if (shapes.length !== 1)
    throw new Error(`apps/${service}/src/config.ts must export one …Variables`);
  const [[, shape]] = shapes;
  const schema = z.toJSONSchema(z.object(shape), { io: 'input', unrepresentable: 'any' });
  const required = new Set(schema.required);
  return Object.fromEntries(
    Object.entries(schema.properties).map(([name, property]) => [
      name,
      {
        required: required.has(name),
        default: defaultOf(shape[name]),
        description: property.description ?? '',
        type: typeOf(property),
      },
    ]),
  );
}

/**
 * Finds the default in the schema itself, because JSON schema omits defaults of transformed values.
 */
function defaultOf({ def }) {
  if (def.type === 'default') return def.defaultValue;
  const inner = def.in ?? def.innerType;
  return inner && defaultOf(inner);
}

function typeOf({ enum: values, type, minimum, maximum, format }) {
  if (values) return values.join(', ');
  if (type === 'number' || type === 'integer') {
    const most =
      maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER ? '' : ` to ${maximum}`;
    return `number from ${minimum ?? 0}${most}`;
  }
  return format === 'uri' ? 'address' : 'text';
}
