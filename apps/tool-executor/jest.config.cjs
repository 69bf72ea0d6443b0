module.exports = { preset: '../../jest.preset.cjs', displayName: 'tool-executor' };
