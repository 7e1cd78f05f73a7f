import type { ReactNode } from 'react';
import { Button } from '../../components/button.tsx';
import { Icon } from '../../components/icon.tsx';
import { t } from '../../i18n.ts';
import styles from './steps/steps.module.css';

interface ConditionFrameProps {
  /** Position in the list, from 1. */
  number: number;
  remove(): void;
  children: ReactNode;
}

/** The fields of a condition, with a button that removes it. */
export const ConditionFrame = ({ number, remove, children }: ConditionFrameProps) => (
  <fieldset className={styles.condition}>
    <legend className="hidden-text">{t('Condition {number}', { number })}</legend>
    {children}
    <div className={styles.removal}>
      <Button icon small look="quiet" aria-label={t('Remove condition {number}', { number })} onPress={remove}>
        <Icon name="close" size={15} />
      </Button>
    </div>
  </fieldset>
);
