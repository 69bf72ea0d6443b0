import { join } from 'node:path';
import ts from 'typescript';
import { loadTypescript } from '../start/load-typescript.mjs';
import { root } from '../start/paths.mjs';

/**
 * Bundles the type declarations of a lib into one file. Types that it imports from contracts are
 * written out, so that users of the package need neither contracts nor zod.
 * @param {string} lib its folder below libs
 * @param {string} name its entry point, a file that only re-exports
 */
export async function bundleDeclarations(lib, name = 'index') {
  const entry = join(root, 'libs', lib, 'src', `${name}.ts`);
  const { config } = ts.readConfigFile(join(root, 'tsconfig.base.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const program = ts.createProgram([entry], {
    ...options,
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    stripInternal: true,
    incremental: false,
    tsBuildInfoFile: undefined,
  });
  const own = program
    .getSourceFiles()
    .filter(
      ({ fileName }) => fileName.startsWith(join(root, 'libs', lib, 'src')) && fileName !== entry,
    );
  const emitted = own.map((file) => {
    let text = '';
    program.emit(file, (_name, content) => (text = content), undefined, true);
    return text;
  });
  const external = new Set(own.flatMap(importedFromContracts));
  const exported = program
    .getTypeChecker()
    .getExportsOfModule(program.getTypeChecker().getSymbolAtLocation(program.getSourceFile(entry)));
  const names = exported
    .map((symbol) => (isValue(program, symbol) ? symbol.name : `type ${symbol.name}`))
    .sort();
  return [
    ...(await contractTypes(program, external)),
    ...emitted.map(withoutModules),
    `export { ${names.join(', ')} };`,
  ]
    .join('\n')
    .replace(/\n{2,}/g, '\n');
}

function isValue(program, symbol) {
  const target =
    symbol.flags & ts.SymbolFlags.Alias
      ? program.getTypeChecker().getAliasedSymbol(symbol)
      : symbol;
  return (target.flags & ts.SymbolFlags.Value) !== 0;
}

/** Removes imports and exports. One export statement is added at the end of the file. */
function withoutModules(text) {
  return text
    .replace(/^import [^;]*;$/gm, '')
    .replace(/^export \{[^}]*\}( from [^;]*)?;$/gm, '')
    .replace(/^export (declare |type |interface |abstract )/gm, '$1')
    .replace(/^\/\/# sourceMappingURL.*$/gm, '');
}

function importedFromContracts(file) {
  return file.statements
    .filter(
      (statement) =>
        ts.isImportDeclaration(statement) && statement.moduleSpecifier.text === '@parley/contracts',
    )
    .flatMap((statement) => {
      const bindings = statement.importClause?.namedBindings;
      return bindings && ts.isNamedImports(bindings)
        ? bindings.elements.map(({ name }) => name.text)
        : [];
    });
}

const place = '#/components/schemas/';

/**
 * The types of contracts with these names, and the types that they refer to. A type that
 * has a schema in the OpenAPI document is written from it, with the descriptions of its
 * fields as comments.
 */
async function contractTypes(program, names) {
  const checker = program.getTypeChecker();
  const contracts = program.getSourceFile(join(root, 'libs', 'contracts', 'src', 'index.ts'));
  if (contracts === undefined) return [];
  const symbols = new Map(
    checker
      .getExportsOfModule(checker.getSymbolAtLocation(contracts))
      .map((symbol) => [symbol.name, symbol]),
  );
  const { schemas, textOf } = await loadSchemas();
  const flags =
    ts.TypeFormatFlags.NoTruncation |
    ts.TypeFormatFlags.InTypeAlias |
    ts.TypeFormatFlags.UseSingleQuotesForStringLiteralType;
  const found = new Map();
  const queue = [...names];
  while (queue.length > 0) {
    const name = queue.pop();
    const symbol = symbols.get(name);
    if (found.has(name) || symbol === undefined) continue;
    const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    if (!(target.flags & ts.SymbolFlags.Type)) continue;
    const text = Object.hasOwn(schemas, name)
      ? textOf(schemas[name])
      : checker.typeToString(checker.getDeclaredTypeOfSymbol(target), undefined, flags);
    found.set(name, `type ${name} = ${text};`);
    const code = text.replace(/\/\*\*.*?\*\//gs, '');
    queue.push(...[...symbols.keys()].filter((other) => new RegExp(`\\b${other}\\b`).test(code)));
  }
  return [...found.values()];
}

/**
 * The schemas of the OpenAPI document by name, except those of any JSON, and the function that
 * writes one as a type.
 */
async function loadSchemas() {
  const { openApiDocument, typeText } = await loadTypescript(
    `export { openApiDocument } from './libs/contracts/src/index'; export { typeText } from './apps/cli/src/types/type-text'`,
    'schemas',
  );
  const { Json: _json, JsonObject: _object, ...schemas } = openApiDocument().components.schemas;
  return { schemas, textOf: (schema) => typeText(schema, (ref) => ref.slice(place.length)) };
}
