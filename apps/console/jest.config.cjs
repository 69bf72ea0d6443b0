// Neither UTC nor, in most places, the zone of the machine; it has days of 23 and 25 hours.
process.env.TZ = 'America/Santiago';

module.exports = {
  preset: '../../jest.preset.cjs',
  displayName: 'console',
  // What modules read of the browser when they are loaded.
  globals: { navigator: { languages: ['en'] } },
};
