import { join } from 'node:path';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const root = join(import.meta.dirname, '..', '..');

export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  plugins: [react(), tailwindcss()],
  resolve: {
    alias: {
      '@parley/client/manage': join(root, 'libs/client/src/manage.ts'),
      '@parley/client': join(root, 'libs/client/src/index.ts'),
      '@parley/rows': join(root, 'libs/rows/src/index.ts'),
      // The build for browsers, which brings its own Buffer.
      'csv-parse/sync': 'csv-parse/browser/esm/sync',
    },
  },
  build: {
    outDir: join(root, 'dist', 'apps', 'console'),
    emptyOutDir: true,
    target: 'es2022',
    // The content security policy refuses inline scripts and data: fonts; browsers of this target
    // preload modules themselves.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
  },
  // In development the page is served by Vite, and the API by the gateway of `npm start`.
  server: {
    proxy: {
      '/v1': process.env.PARLEY_URL ?? 'http://localhost:4000',
      '/docs': process.env.PARLEY_URL ?? 'http://localhost:4000',
    },
  },
});
