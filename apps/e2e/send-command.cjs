// node send-command.cjs PORT ARGUMENT…: runs `parley` in the process of a test
// (src/command-server.ts), ten times as fast as a new one.
const { readFileSync } = require('node:fs');
const { connect } = require('node:net');

const [port, ...args] = process.argv.slice(2);
const { env } = process;
const command = {
  args,
  env,
  cwd: process.cwd(),
  input: args.includes('-') ? readFileSync(0, 'utf8') : '',
};
let answer = '';
connect(Number(port), '127.0.0.1')
  .setEncoding('utf8')
  .on('data', (text) => (answer += text))
  .on('end', () => {
    const { code, stdout, stderr } = JSON.parse(answer);
    process.stdout.write(stdout);
    process.stderr.write(stderr);
    process.exitCode = code;
  })
  .end(JSON.stringify(command));
