import {
  type Appearance,
  type Card,
  type CardStep,
  type Client,
  type Credential,
  createClient,
  createOutbox,
  memoryStorage,
  type Outbox,
  type Provider,
  type Thanks,
} from '../../../clients/javascript/src/index.ts';
import type { QuestionType } from '../../words.ts';

/** The texts of a step in another language. */
interface StepTranslation {
  title?: string;
  description?: string;
  config?: { labels?: { low?: string; high?: string }; options?: Record<string, string> };
}

/** The texts of a question in another language, as in the API. */
export interface TextTranslation extends StepTranslation {
  follow_ups?: Record<string, StepTranslation>;
  thanks?: { title?: string; body?: string; link?: { label?: string } };
}

/** Where the client's card view gets its card, and where it puts the answers. */
export interface CardSource {
  client: Client;
  outbox: Outbox;
}

/** The parts of a step that users see. */
export interface StepText {
  type: QuestionType;
  title: string;
  description?: string;
  config: Record<string, unknown>;
}

/** A step after the question itself. */
export interface FollowUpText extends StepText {
  key: string;
  required: boolean;
  show_if?: object | null;
}

/** The parts of a question that users see. */
export interface CardText extends StepText {
  follow_ups?: FollowUpText[];
  thanks?: Thanks | null;
  /** Language of these texts; empty: the tenant's default. */
  locale?: string;
  translations?: Record<string, TextTranslation>;
}

const clientFor = (provider: Provider): Client => createClient({ baseUrl: location.origin, allowHttp: true, provider }); // the page's own origin, whatever its scheme

const stepOf = ({ key, type, title, description = '', config, required, show_if = null }: FollowUpText): CardStep => ({
  ...{ key, type, title, description, config: config as CardStep['config'] },
  required: required && type !== 'statement',
  show_if: show_if as CardStep['show_if'],
});

/** The steps of a question as the API would send them. */
export const stepsOf = ({ follow_ups = [], thanks: _, locale: __, translations: ___, ...main }: CardText): CardStep[] =>
  [{ ...main, key: 'main', required: true }, ...follow_ups].map(stepOf);

/** A step with its options in the order of the question, which users may see shuffled. */
export const unshuffled = (step: CardStep): CardStep => ({ ...step, config: { ...step.config, shuffle: false } });

/** A card as the API would send it. */
const cardOf = (steps: CardStep[], thanks: Thanks | null): Card => ({
  id: 'preview',
  question_id: 'preview',
  question_version: 1,
  kind: 'question',
  steps,
  locale: 'en',
  priority: 0,
  expires_at: null,
  thanks,
  reply: null,
});

/** The parts of a local card besides its steps. */
interface LocalParts {
  /** null: the default text of the client. */
  thanks?: Thanks | null;
  /** As the API returns it with the cards; undefined: the colors of the page around the card. */
  appearance?: Appearance;
}

/** A card without requests: its answers are dropped. */
export function localCard(steps: CardStep[], { thanks = null, appearance }: LocalParts = {}): CardSource {
  const client = clientFor(() => new Error('A local card sends no requests.'));
  return {
    client: { ...client, listCards: async () => [cardOf(steps, thanks)], appearance: () => appearance },
    outbox: {
      record: async () => undefined,
      flush: async () => ({ outcome: 'done' }),
      flushBeyondPage: () => undefined,
      waiting: async () => [],
      close: () => undefined,
    },
  };
}

interface TestedCard {
  /** Changes the appearance that the API returns with the cards. */
  drawn?(appearance: Appearance): Appearance;
  /** Issues a test token. */
  issueToken(): Promise<Credential>;
  /** Called after each attempt to send answers; with the cause if they could not be sent. */
  onSent(cause?: unknown): void;
}

/** The card of a saved question as the API returns it for a test token. Its answers are stored as test answers. */
export function testedCard({ issueToken, onSent, drawn = given => given }: TestedCard): CardSource {
  const fetching = clientFor(issueToken);
  const appearance = () => {
    const given = fetching.appearance();
    return given && drawn(given);
  };
  /** Without a user the view leaves no unfinished card on the device, which would take the place of the edited one. */
  const client: Client = { ...fetching, appearance, heldOwner: () => undefined, ownerOf: () => undefined };
  let refusal: string | undefined;
  const onLost = (_: unknown, code: string) => (refusal = code);
  const outbox = createOutbox(fetching, { storage: memoryStorage(), automatic: false, onLost });
  const flush: Outbox['flush'] = async () => {
    refusal = undefined;
    const flushed = await outbox.flush();
    const failure = flushed.outcome === 'done' ? undefined : (flushed.error ?? flushed.outcome);
    onSent(refusal ?? failure);
    return flushed;
  };
  return { client, outbox: { ...outbox, flush } };
}
