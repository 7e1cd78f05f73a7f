import { Fragment, useId } from 'react';
import { t } from '../i18n.ts';
import type { QuestionType } from '../words.ts';
import styles from './card-preview.module.css';
import { Icon } from './icon.tsx';
import { Face, Star, Thumb } from './signs.tsx';

/** The parts of a question that users see. */
export interface Previewed {
  type: QuestionType;
  title: string;
  description?: string;
  config: Record<string, unknown>;
}

interface Config {
  labels?: { low?: string; high?: string };
  style?: 'number' | 'smiley' | 'star';
  scale?: number;
  options?: { id: string; label: string }[];
  allow_other?: boolean;
  min_length?: number;
  max_length?: number;
  input?: 'text' | 'email' | 'url' | 'number';
  url?: string;
}

const upTo = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, at) => from + at);

/** Mood from -1 (first value) to 1 (last value). */
const moodAt = (at: number, length: number): number => (at / Math.max(1, length - 1)) * 2 - 1;

const LOOKS = { number: styles.step, smiley: `${styles.step} ${styles.sign}`, star: `${styles.step} ${styles.star}` };

function Scale({ values, config, name }: { values: number[]; config: Config; name: string }) {
  const { style = 'number', labels } = config;
  const shown = (value: number, at: number) =>
    ({ number: value, star: <Star />, smiley: <Face mood={moodAt(at, values.length)} /> })[style];
  return (
    <div>
      <div className={styles.scale}>
        {values.map((value, at) => (
          <label key={value} className={LOOKS[style]}>
            <input type="radio" name={name} aria-label={String(value)} />
            <span aria-hidden="true">{shown(value, at)}</span>
          </label>
        ))}
      </div>
      {(labels?.low || labels?.high) && (
        <div className={styles.ends}>
          <span>{labels.low}</span>
          <span>{labels.high}</span>
        </div>
      )}
    </div>
  );
}

function Options({ config, name, kind }: { config: Config; name: string; kind: 'radio' | 'checkbox' }) {
  const options = [...(config.options ?? []), ...(config.allow_other ? [{ id: '', label: t('Other') }] : [])];
  return (
    <div className={styles.options}>
      {options.map(({ id, label }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: option ids may repeat while being edited
        <label key={at} className={styles.option}>
          <input type={kind} name={name} value={id} /> <span>{label || '…'}</span>
        </label>
      ))}
    </div>
  );
}

function Thumbs({ name }: { name: string }) {
  return (
    <div className={styles.scale}>
      {[true, false].map(up => (
        <label key={String(up)} className={LOOKS.smiley}>
          <input type="radio" name={name} aria-label={up ? t('Yes') : t('No')} />
          <Thumb up={up} />
        </label>
      ))}
    </div>
  );
}

function WrittenInput({ config, label }: { config: Config; label: string }) {
  const { input = 'text', max_length } = config;
  if (input === 'text') return <textarea className={styles.input} rows={3} maxLength={max_length} aria-label={label} />;
  return <input className={styles.input} type={input} maxLength={max_length} aria-label={label} />;
}

function AnswerInput({
  type,
  config,
  name,
  label,
}: {
  type: QuestionType;
  config: Config;
  name: string;
  label: string;
}) {
  switch (type) {
    case 'nps':
      return <Scale values={upTo(0, 10)} config={config} name={name} />;
    case 'csat':
      return <Scale values={upTo(1, 5)} config={config} name={name} />;
    case 'ces':
      return <Scale values={upTo(1, config.scale ?? 7)} config={config} name={name} />;
    case 'rating':
      return <Scale values={upTo(1, config.scale ?? 5)} config={{ style: 'star', ...config }} name={name} />;
    case 'thumbs':
      return <Thumbs name={name} />;
    case 'single_choice':
      return <Options config={config} name={name} kind="radio" />;
    case 'multi_choice':
      return <Options config={config} name={name} kind="checkbox" />;
    case 'text':
      return <WrittenInput config={config} label={label} />;
    case 'date':
      return <input className={styles.input} type="date" aria-label={label} />;
    case 'consent':
      return <Options config={{ options: [{ id: 'yes', label: t('I agree') }] }} name={name} kind="checkbox" />;
    case 'statement':
      return config.url ? <span className="small quiet wrap-anywhere">{config.url}</span> : <Fragment />;
  }
}

const SCORED: QuestionType[] = ['nps', 'csat', 'ces', 'rating', 'thumbs'];

/** Interactive preview of a question's card, without requests. */
export function CardPreview({ type, title, description, config }: Previewed) {
  const name = useId();
  return (
    <div className={styles.stage}>
      <fieldset className={styles.card} aria-label={t('Preview')}>
        <div className={styles.head}>
          <p className={styles.title}>{title || t('Your question')}</p>
          <Icon name="close" size={16} />
        </div>
        {description && <p className="quiet wrap-anywhere">{description}</p>}
        <AnswerInput type={type} config={config as Config} name={name} label={title || t('Your question')} />
        {SCORED.includes(type) && (
          <textarea
            className={styles.input}
            rows={1}
            placeholder={t('Anything to add?')}
            aria-label={t('Anything to add?')}
          />
        )}
        <span className={styles.send} aria-hidden="true">
          {type === 'statement' ? t('OK') : t('Send')}
        </span>
      </fieldset>
    </div>
  );
}
