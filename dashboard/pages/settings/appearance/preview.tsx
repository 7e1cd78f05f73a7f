import { useMemo, useState } from 'react';
import { useApi, useList } from '../../../api/hooks.ts';
import type { Tenant } from '../../../api/names.ts';
import type { Schemas } from '../../../api/schema.ts';
import { type CardText, localCard, stepsOf } from '../../../components/card/card-source.ts';
import { drawnAppearance, onScreen } from '../../../components/card/drawn-appearance.ts';
import { type Device, type Scheme, Screen } from '../../../components/card/screen.tsx';
import { translateCard } from '../../../components/card/translate.ts';
import { Filter } from '../../../components/fields/fields.tsx';
import { locale, t } from '../../../i18n.ts';
import { languageName } from '../../questions/languages/names.ts';
import styles from './appearance.module.css';

type Appearance = Schemas['Appearance'];

interface Sample {
  id: string;
  name: string;
  text: CardText;
  placement: Schemas['Placement'] | null;
}

/** Number of live questions that are offered as samples. */
const MAX_QUESTIONS = 20;

/** Cards to show: the templates, and questions that are live. */
function useSamples(language: string): Sample[] {
  const templates = useApi('GET /v1/question-templates', { query: { locale: language } });
  const questions = useList('GET /v1/questions', { query: { status: 'live' } }, { limit: MAX_QUESTIONS });
  return [
    ...(templates.data?.data ?? []).map(
      ({ id, name, question }): Sample => ({ id, name, text: question as CardText, placement: null }),
    ),
    ...questions.items.map(
      (question): Sample => ({
        id: question.id,
        name: question.name,
        text: translateCard(question as CardText, question.translations?.[language]),
        placement: question.placement,
      }),
    ),
  ];
}

const NO_CARD: CardText = { type: 'nps', title: '', config: {} };

interface ShownProps {
  sample: Sample | undefined;
  appearance: Appearance;
  device: Device;
  language: string;
}

/** The card on a light and on a dark screen. */
function Screens({ sample, appearance, device, language }: ShownProps) {
  const text = sample?.text ?? NO_CARD;
  const drawn = onScreen(drawnAppearance(appearance));
  const content = JSON.stringify([text, drawn]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the content stands for the card
  const source = useMemo(() => localCard(stepsOf(text), { thanks: text.thanks, appearance: drawn }), [content]);
  const schemes: [scheme: Scheme, name: string][] = [
    ['light', t('Light page')],
    ['dark', t('Dark page')],
  ];
  return (
    <div className={`${styles.screens} ${styles[device]}`}>
      {schemes.map(([scheme, name]) => (
        <Screen
          key={scheme}
          {...{ device, scheme, source, language }}
          label={t('Preview: {name}', { name })}
          caption={name}
          placement={sample?.placement ?? appearance.placement}
        />
      ))}
    </div>
  );
}

/** Languages in which the tenant shows cards; the language of the pages is offered too. */
const languagesOf = ({ default_locale, locales }: Tenant): string[] => [
  ...new Set([default_locale, ...locales, locale()]),
];

/** Cards with this appearance, as the JavaScript client shows them. */
export function AppearancePreview({ tenant, appearance }: { tenant: Tenant; appearance: Appearance }) {
  const [language, setLanguage] = useState(tenant.default_locale);
  const [device, setDevice] = useState<Device>('phone');
  const [chosen, setChosen] = useState('');
  const samples = useSamples(language);
  const sample = samples.find(({ id }) => id === chosen) ?? samples[0];
  return (
    <section className={styles.preview} aria-label={t('Preview')}>
      <div className="row">
        <Filter small label={t('Card')} value={sample?.id} onChange={event => setChosen(event.target.value)}>
          {samples.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </Filter>
        <Filter small label={t('Device')} value={device} onChange={event => setDevice(event.target.value as Device)}>
          <option value="phone">{t('Phone')}</option>
          <option value="desktop">{t('Desktop')}</option>
        </Filter>
        <Filter
          small
          label={t('Language of the preview')}
          value={language}
          onChange={event => setLanguage(event.target.value)}
        >
          {languagesOf(tenant).map(tag => (
            <option key={tag} value={tag}>
              {languageName(tag)}
            </option>
          ))}
        </Filter>
      </div>
      <Screens {...{ sample, appearance, device, language }} />
    </section>
  );
}
