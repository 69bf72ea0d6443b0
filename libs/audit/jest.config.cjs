module.exports = { preset: '../../jest.preset.cjs', displayName: 'audit' };
