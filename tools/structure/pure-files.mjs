// Which files of the console and of the chat for websites are logic that Node can test: no React,
// no page, no texts.
import { dirname, join } from 'node:path';
import ts from 'typescript';

/** Hooks and components, and what they are made of. */
const packagesOfScreens = /^(react|react-dom|lucide-react|@tanstack\/react-[\w-]+)(\/|$)/;
/** What only a page or a worker of a browser has. */
const globalsOfPages = new Set([
  'document',
  'window',
  'sessionStorage',
  'customElements',
  'Worker',
  'self',
]);
/** Texts, hooks, and what tests need themselves. */
const isLeftOut = (path) =>
  /(^|[/-])texts\.ts$|\/texts\/|\/use-[\w-]+\.ts$|\/testing\/|\.test\.ts$/.test(path);

/**
 * The files that need a test beside them.
 * @param {{ path: string, text: string }[]} files all `.ts` and `.tsx` files of the projects
 * @returns {string[]} the paths of those that export a function or class, import no component, and
 *   name nothing of a page.
 */
export function pureFiles(files) {
  const paths = new Set(files.map(({ path }) => path));
  return files
    .filter(({ path }) => path.endsWith('.ts') && !isLeftOut(path))
    .filter(({ path, text }) => {
      const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
      return (
        source.statements.some(exportsFunction) &&
        !importsScreen(source, path, paths) &&
        !namesPage(source)
      );
    })
    .map(({ path }) => path);
}

/** The files of `pureFiles` without a test beside them. */
export function untestedFiles(files) {
  const paths = new Set(files.map(({ path }) => path));
  return pureFiles(files).filter((path) => !paths.has(path.replace(/\.ts$/, '.test.ts')));
}

function exportsFunction(statement) {
  const isExported = ts.canHaveModifiers(statement) && hasExport(statement);
  if (!isExported) return false;
  if (ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement)) return true;
  if (!ts.isVariableStatement(statement)) return false;
  return statement.declarationList.declarations.some(
    ({ initializer }) =>
      initializer !== undefined &&
      (ts.isArrowFunction(initializer) || ts.isFunctionExpression(initializer)),
  );
}

const hasExport = (statement) =>
  (ts.getModifiers(statement) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);

/**
 * Whether it imports React, a component, or another file that is not for Node. Types
 * are no imports.
 */
function importsScreen(source, path, paths) {
  return source.statements.some((statement) => {
    if (!ts.isImportDeclaration(statement) || isOfTypes(statement.importClause)) return false;
    const name = statement.moduleSpecifier.text;
    if (!name.startsWith('.')) return packagesOfScreens.test(name);
    return paths.has(`${join(dirname(path), name)}.tsx`);
  });
}

function isOfTypes(clause) {
  if (clause === undefined) return false;
  if (clause.isTypeOnly) return true;
  const names = clause.namedBindings;
  const areTypes =
    names !== undefined &&
    ts.isNamedImports(names) &&
    names.elements.every((one) => one.isTypeOnly);
  return clause.name === undefined && areTypes;
}

/** Whether code, and not a type or a name of its own, reads something of a page. */
function namesPage(source) {
  let isFound = false;
  const visit = (node) => {
    if (isFound || ts.isTypeNode(node)) return;
    if (ts.isIdentifier(node) && globalsOfPages.has(node.text) && isRead(node)) isFound = true;
    ts.forEachChild(node, visit);
  };
  visit(source);
  return isFound;
}

function isRead({ parent, text }) {
  const isOfObject = ts.isPropertyAccessExpression(parent) && parent.name.text === text;
  const isNamed = parent.name !== undefined && parent.name.text === text;
  return !isOfObject && !isNamed;
}
