import { ParleyError, unreadable } from '../errors.ts';
import { isOfParley, isRefusal } from '../outbox/refusals.ts';
import type { Receipt } from '../types.ts';
import type { Reply } from '../wire.ts';

/** Whether fewer answers may pass. Parley itself reports a fault of an answer by its receipt, so its refusals are about the request. */
const isAboutContent = (error: unknown): error is ParleyError =>
  error instanceof ParleyError && (error.status === 413 || (isRefusal(error) && !isOfParley(error)));

function receiptsIn({ json, status, headers }: Reply): Receipt[] {
  const { results } = Object(json) as { results?: Receipt[] };
  if (Array.isArray(results)) return results;
  throw unreadable(status, headers);
}

/**
 * Sends answers in smaller requests if something on the way, such as a firewall, refuses them. An answer that is refused in a request
 * of its own has the receipt `rejected` with `refused`. Throws the refusal if no answer was sent.
 */
export async function sendInParts<Answer extends { id: string; revision: number }>(
  answers: Answer[],
  send: (part: Answer[]) => Promise<Reply>,
): Promise<Receipt[]> {
  const receipts: Receipt[] = [];
  let refusal: ParleyError | undefined;
  let isSent = false;
  let done = 0; // not the number of receipts: a reply may have fewer
  for (let size = answers.length; ; ) {
    const part = answers.slice(done, done + size);
    try {
      receipts.push(...receiptsIn(await send(part)));
      isSent = true;
      done += part.length;
      size *= 2;
    } catch (error) {
      if (!isAboutContent(error)) throw error;
      const [answer, another] = part as [Answer, Answer?];
      if (another) size = Math.floor(part.length / 2);
      else {
        refusal ??= error;
        done++;
        const code = isOfParley(error) ? (error.code as string) : 'refused';
        receipts.push({ id: answer.id, revision: answer.revision, status: 'rejected', code, detail: error.message });
      }
    }
    if (done < answers.length) continue;
    if (refusal && !isSent) throw refusal;
    return receipts;
  }
}
