import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createQueries } from './api/hooks.ts';
import { App } from './app.tsx';
import './base.css';
import { activate, preferredLocale } from './i18n.ts';
import { watchHistory } from './leaving.ts';
import { applyTheme, savedTheme } from './theme.ts';

watchHistory();
applyTheme(savedTheme());
await activate(preferredLocale());
createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <QueryClientProvider client={createQueries()}>
      <App />
    </QueryClientProvider>
  </StrictMode>,
);
