module.exports = { preset: '../../jest.preset.cjs', displayName: 'e2e' };
