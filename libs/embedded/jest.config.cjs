module.exports = { displayName: 'embedded', preset: '../../jest.preset.cjs' };
