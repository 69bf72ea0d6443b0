// Health check of a container: exits with 0 when /readyz of its service returns 200. The CLI has no
// port and is always healthy.
const { get } = require('node:http');

const internalPorts = {
  gateway: 4100,
  data: 4101,
  chat: 4102,
  'webhook-ingest': 4103,
  'tool-executor': 4104,
  worker: 4105,
  manage: 4107,
};
const port = process.env.INTERNAL_PORT || internalPorts[process.env.PARLEY_APP];
if (port) {
  get({ host: '127.0.0.1', port, path: '/readyz', timeout: 4_000 }, (response) => {
    response.resume().on('end', () => process.exit(response.statusCode === 200 ? 0 : 1));
  })
    .on('timeout', () => process.exit(1))
    .on('error', () => process.exit(1));
}
