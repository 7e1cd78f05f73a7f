import { ParleyError } from '../errors.ts';
import type { NewAnswer } from '../types.ts';

export type Metadata = NonNullable<NewAnswer['metadata']>;

/** Maximum number of fields of an app's own. With `card_locale` and `trigger` they are the 20 that servers accept. */
const MAX_FIELDS = 18;

/** Standard names, and those that the library adds. */
const STANDARD = /^(platform|os_version|app_version|sdk|device_model|locale|screen|card_locale|trigger)$/;

/** Throws `invalid-argument` if the server would reject an answer with these fields. Those of a view exclude the standard ones. */
export function checkMetadata(metadata: Metadata = {}, isOfView = false): void {
  const own = Object.entries(metadata).filter(([name]) => isOfView || !STANDARD.test(name));
  const wrong = own.find(
    ([name, value]) => STANDARD.test(name) || !/^(?!__proto__$)[\w.-]{1,64}$/.test(name) || String(value).length > 256,
  );
  if (wrong) throw new ParleyError('invalid-argument', `The name or value of the field "${wrong[0]}" is not allowed.`);
  if (own.length > MAX_FIELDS)
    throw new ParleyError('invalid-argument', `An answer has at most ${MAX_FIELDS} fields of your own.`);
}
