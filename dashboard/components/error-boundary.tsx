import { Component, type ReactNode } from 'react';
import { t } from '../i18n.ts';
import { Button } from './button.tsx';
import { Page } from './page.tsx';
import { Note } from './problem-note.tsx';

interface ErrorBoundaryProps {
  /** Path of the page; a change resets the error. */
  here: string;
  children: ReactNode;
}

/** Confines a rendering error to one page. The error is in the browser console. */
export class ErrorBoundary extends Component<ErrorBoundaryProps, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError(): { failed: boolean } {
    return { failed: true };
  }

  override componentDidUpdate({ here }: ErrorBoundaryProps): void {
    if (this.state.failed && here !== this.props.here) this.setState({ failed: false });
  }

  override render(): ReactNode {
    if (!this.state.failed) return this.props.children;
    return (
      <Page title={t('This page could not be loaded')}>
        <Note tone="bad">
          <p role="alert">{t('An error occurred on this page, or a newer version of Parley has been installed.')}</p>
          <p>
            <Button onPress={() => location.reload()}>{t('Reload page')}</Button>
          </p>
        </Note>
      </Page>
    );
  }
}
