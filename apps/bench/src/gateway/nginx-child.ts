import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@parley/embedded';

/**
 * Starts nginx as a proxy of the given service: the installed one, else Debian's package unpacked
 * into the given folder.
 */
const [folder = '', target = ''] = process.argv.slice(2);

function findNginx(): string {
  try {
    return execFileSync('sh', ['-c', 'command -v nginx'], { encoding: 'utf8' }).trim();
  } catch {
    execFileSync('apt-get', ['download', 'nginx'], { cwd: folder, stdio: 'ignore' });
    const file = readdirSync(folder).find((name) => name.endsWith('.deb'))!;
    execFileSync('dpkg', ['-x', file, '.'], { cwd: folder });
    return join(folder, 'usr', 'sbin', 'nginx');
  }
}

async function main(): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const port = await freePort();
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  // A reverse proxy with kept-alive connections as in its manual, with one worker, as the others
  // have one process.
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log;
     events { worker_connections 1024; }
     http {
       access_log off; keepalive_requests 1000000000; ${temporary.join(' ')}
       upstream service { server ${new URL(target).host}; keepalive 64; keepalive_requests 1000000000; }
       server {
         listen 127.0.0.1:${port};
         location / { proxy_pass http://service; proxy_http_version 1.1; proxy_set_header Connection ""; }
       }
     }`,
  );
  const child = spawn(findNginx(), ['-c', join(folder, 'nginx.conf'), '-p', folder], {
    stdio: 'inherit',
  });
  child.once('exit', (code) => process.exit(code ?? 1));
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  while (!(await listens(port))) await sleep(20);
  console.log(port);
}

const listens = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
