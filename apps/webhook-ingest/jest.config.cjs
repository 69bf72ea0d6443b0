module.exports = { preset: '../../jest.preset.cjs', displayName: 'webhook-ingest' };
