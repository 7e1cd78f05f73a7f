import { ParleyError } from '../errors.ts';
import type { NewAnswer } from '../types.ts';

export type Metadata = NonNullable<NewAnswer['metadata']>;

/** Maximum number of fields of an app's own. With `card_locale` and `trigger` they are the 20 that servers accept. */
const MAX_FIELDS = 18;

/** Standard names, and those that the library adds. */
const STANDARD = /^(platform|os_version|app_version|sdk|device_model|locale|screen|card_locale|trigger)$/;

/** Whether servers accept a value. An undefined one is not sent. */
const isAccepted = (value: unknown): boolean =>
  typeof value === 'number'
    ? Math.abs(value) < 2 ** 53
    : /^(string|boolean|undefined)$/.test(typeof value) && `${value}`.length <= 256;

/** Throws `invalid-argument` if the server would reject an answer with these fields. Those of a view exclude the standard ones. */
export function checkMetadata(metadata: Metadata = {}, isOfView = false): void {
  const names = Object.keys(metadata);
  const own = names.filter(name => !STANDARD.test(name));
  const wrong = names.find(
    name =>
      (isOfView && STANDARD.test(name)) || !/^(?!__proto__$)[\w.-]{1,64}$/.test(name) || !isAccepted(metadata[name]),
  );
  const fault = wrong === undefined ? own.length > MAX_FIELDS && `more than ${MAX_FIELDS} fields` : `"${wrong}"`;
  if (fault) throw new ParleyError('invalid-argument', `Metadata that is not allowed: ${fault}.`);
}
