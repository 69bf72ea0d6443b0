module.exports = { preset: '../../jest.preset.cjs', displayName: 'stand-ins' };
