module.exports = { preset: '../../jest.preset.cjs', displayName: 'console' };
