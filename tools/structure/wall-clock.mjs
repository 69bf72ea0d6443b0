// Waits and limits of a test that depend on the speed of the machine: a measured time that must be
// below 10 seconds, and a wait for a fixed time. Both fail, or prove nothing, beside other work.
import ts from 'typescript';

/** The first limit that only ends a test that hangs. */
const guardMs = 10_000;

/** `// wall clock: the limit is what the test is about` on the line or on the line above. */
const reason = /\/\/ wall clock: \S/;

const clocks = new Set([
  'performance.now',
  'Date.now',
  'process.hrtime',
  'process.hrtime.bigint',
  'process.uptime',
]);
const measuredNames = /^(duration|elapsed|late|took|waited)Ms$/;
const upperMatchers = new Set(['toBeLessThan', 'toBeLessThanOrEqual']);

/**
 * Returns the places of a test that depend on the speed of the machine and give no reason.
 * @param {{ path: string, text: string }} file
 * @returns {{ place: string, kind: 'limit' | 'sleep', code: string }[]}
 */
export function wallClockUses({ path, text }) {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const lines = text.split('\n');
  const sleeps = sleepNames(source);
  const isTime = timesOf(source);
  const found = new Map();
  const visit = (node) => {
    const kind = isLimit(node, isTime, source)
      ? 'limit'
      : isSleep(node, sleeps)
        ? 'sleep'
        : undefined;
    const at = source.getLineAndCharacterOfPosition(node.getStart(source)).line;
    const last = source.getLineAndCharacterOfPosition(node.getEnd()).line;
    const hasReason = lines.slice(Math.max(at - 1, 0), last + 1).some((line) => reason.test(line));
    const place = `${path}:${at + 1}`;
    if (kind !== undefined && !hasReason)
      found.set(`${place} ${kind}`, { place, kind, code: lines[at].trim() });
    ts.forEachChild(node, visit);
  };
  visit(source);
  return [...found.values()];
}

/** The names under which a file imports `setTimeout` of node:timers/promises. */
function sleepNames(source) {
  const imports = source.statements.filter(
    (statement) =>
      ts.isImportDeclaration(statement) && /timers\/promises$/.test(statement.moduleSpecifier.text),
  );
  const elements = imports.flatMap(
    ({ importClause }) => importClause.namedBindings?.elements ?? [],
  );
  return new Set(
    elements
      .filter((one) => (one.propertyName ?? one.name).text === 'setTimeout')
      .map(({ name }) => name.text),
  );
}

/** `sleep(500)`, or `new Promise((resolve) => setTimeout(resolve, 500))`. */
function isSleep(node, sleeps) {
  if (ts.isCallExpression(node))
    return sleeps.has(node.expression.getText()) && node.arguments[0]?.getText() !== '0';
  if (!ts.isNewExpression(node) || node.expression.getText() !== 'Promise') return false;
  const [run] = node.arguments ?? [];
  if (run === undefined || !ts.isArrowFunction(run)) return false;
  return ts.isCallExpression(run.body) && run.body.expression.getText() === 'setTimeout';
}

/** `expect(TIME).toBeLessThan(LIMIT)`, or `assert.ok(TIME < LIMIT)`. */
function isLimit(node, isTime, source) {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return false;
  const { name, expression } = node.expression;
  if (upperMatchers.has(name.text) && ts.isCallExpression(expression))
    return expression.arguments.some(isTime) && !isGuard(node.arguments[0], source);
  const [checked] = node.arguments;
  if (
    node.expression.getText() !== 'assert.ok' ||
    checked === undefined ||
    !ts.isBinaryExpression(checked)
  )
    return false;
  return (
    /^<=?$/.test(checked.operatorToken.getText()) &&
    isTime(checked.left) &&
    !isGuard(checked.right, source)
  );
}

/** Whether the limit is a number, or a sum or product of numbers, of at least 10 seconds. */
const isGuard = (limit, source) => valueOf(limit, source) >= guardMs;

/** The number that an expression of literals and constants of the file has, otherwise NaN. */
function valueOf(expression, source) {
  if (ts.isNumericLiteral(expression)) return Number(expression.text);
  if (ts.isParenthesizedExpression(expression)) return valueOf(expression.expression, source);
  if (ts.isIdentifier(expression)) {
    const initializer = initializersOf(source).get(expression.text);
    return initializer === undefined ? NaN : valueOf(initializer, source);
  }
  if (!ts.isBinaryExpression(expression)) return NaN;
  const left = valueOf(expression.left, source);
  const right = valueOf(expression.right, source);
  const sign = expression.operatorToken.getText();
  if (sign === '+') return left + right;
  return sign === '*' ? left * right : NaN;
}

function initializersOf(source) {
  const found = new Map();
  forEachNode(source, (node) => {
    if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && node.initializer)
      found.set(node.name.text, node.initializer);
  });
  return found;
}

/** Answers whether an expression of a file is computed from a clock. */
function timesOf(source) {
  const names = new Set();
  const isTime = (node) => {
    if (ts.isIdentifier(node)) return names.has(node.text) || measuredNames.test(node.text);
    if (ts.isPropertyAccessExpression(node))
      return measuredNames.test(node.name.text) || isListOfTimes(node);
    if (ts.isBinaryExpression(node)) return isTime(node.left) || isTime(node.right);
    if (ts.isConditionalExpression(node)) return isTime(node.whenTrue) || isTime(node.whenFalse);
    if (ts.isArrowFunction(node)) return isTime(node.body);
    if (ts.isBlock(node))
      return node.statements.some((one) => ts.isReturnStatement(one) && isTime(one));
    if (ts.isCallExpression(node)) return isTimeCall(node);
    if (ts.isArrayLiteralExpression(node)) return node.elements.some(isTime);
    const inner = node.expression;
    return inner !== undefined && isTime(inner);
  };
  /** `timesMs.known`, after `timesMs.known.push(TIME)`. */
  const isListOfTimes = ({ name, expression }) => name.text !== 'length' && isTime(expression);
  const isTimeCall = ({ expression, arguments: given }) => {
    const callee = expression.getText();
    if (clocks.has(callee)) return true;
    if (callee.startsWith('Math.') || /\.map$/.test(callee)) return given.some(isTime);
    return ts.isIdentifier(expression) && names.has(callee);
  };
  for (let before = -1; before < names.size;) {
    before = names.size;
    forEachNode(source, (node) => {
      for (const [name, value] of assigned(node)) {
        if (isTime(value)) names.add(name);
      }
    });
  }
  return isTime;
}

/** The names and values of a declaration, an assignment, a function or `NAME.push(VALUE)`. */
function assigned(node) {
  if (ts.isVariableDeclaration(node) && node.initializer) return declared(node);
  if (ts.isFunctionDeclaration(node) && node.name && node.body)
    return [[node.name.text, node.body]];
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.EqualsToken)
    return [[node.left.getText(), node.right]];
  if (
    !ts.isCallExpression(node) ||
    !node.expression.getText().endsWith('.push') ||
    node.arguments.length !== 1
  )
    return [];
  return [[nameOfList(node.expression.expression), node.arguments[0]]];
}

/** `timesMs` of `timesMs`, `timesMs.known` and `timesMs[kind]!`. */
const nameOfList = (list) =>
  list.expression === undefined ? list.getText() : nameOfList(list.expression);

/** `name = value`, or `[name, other] = [value, another]`. */
function declared({ name, initializer }) {
  if (ts.isIdentifier(name)) return [[name.text, initializer]];
  if (!ts.isArrayBindingPattern(name) || !ts.isArrayLiteralExpression(initializer)) return [];
  return name.elements.flatMap((element, at) => {
    const value = initializer.elements[at];
    return value === undefined || element.name === undefined
      ? []
      : [[element.name.getText(), value]];
  });
}

function forEachNode(source, use) {
  const visit = (node) => {
    use(node);
    ts.forEachChild(node, visit);
  };
  visit(source);
}
