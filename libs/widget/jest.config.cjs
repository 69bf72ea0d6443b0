module.exports = {
  preset: '../../jest.preset.cjs',
  displayName: 'widget',
  // What the chat reads of the page around it. What needs elements is tested in a browser.
  globals: {
    navigator: { onLine: true },
    location: { origin: 'https://shop.example' },
    document: { visibilityState: 'visible' },
  },
};
