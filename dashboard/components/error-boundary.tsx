import { Component, type ReactNode } from 'react';
import { t } from '../i18n.ts';
import { Button } from './button.tsx';
import { Note } from './problem-note.tsx';

/** Keeps a mistake in one page from taking the others with it. The browser's console has the error. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError(): { failed: boolean } {
    return { failed: true };
  }

  override render(): ReactNode {
    if (!this.state.failed) return this.props.children;
    return (
      <Note tone="bad">
        <p role="alert">{t('This page met a mistake of its own, or a newer version was installed meanwhile.')}</p>
        <p>
          <Button onPress={() => location.reload()}>{t('Reload the page')}</Button>
        </p>
      </Note>
    );
  }
}
