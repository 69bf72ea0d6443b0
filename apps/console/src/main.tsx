import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queryClient } from './api/session';
import { router } from './router';
import { applyTheme } from './theme';
import './style.css';

applyTheme();
// A page that was loaded before an upgrade asks for screens that the server no longer has. A screen that cannot be loaded
// for another reason says so, instead of loading the page for ever.
const reloadPauseMs = 10_000;
const reloaded = 'parley.reloadedAt';
window.addEventListener('vite:preloadError', (event) => {
  if (Date.now() - Number(sessionStorage.getItem(reloaded)) < reloadPauseMs) return;
  sessionStorage.setItem(reloaded, String(Date.now()));
  event.preventDefault();
  location.reload();
});
createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
