/**
 * The only bridge between a promise and an actor. A question goes out as an
 * event with a request id; the actor emits one reply with that id.
 */
export interface Ask<Question extends object, Reply> {
  /** Sends the question; resolves with its reply. Rejects only when `send` itself throws. */
  ask(question: Question): Promise<Reply>;
  /** Hands a reply to whoever asked; a second one for the same id changes nothing. */
  deliver(requestId: string, reply: Reply): void;
  /** Answers everything that is open and, from now on, every new question: nobody is listening any more. */
  failAll(reply: Reply): void;
  readonly pending: number;
}

/** `onUnclaimed` hears of a reply that nobody waits for: a defect of the chart. */
export function createAsk<Question extends object, Reply>(
  send: (event: Question & { readonly requestId: string }) => void,
  onUnclaimed: (requestId: string) => void = () => {},
): Ask<Question, Reply> {
  const waiting = new Map<string, (reply: Reply) => void>();
  let count = 0;
  let ended: { readonly reply: Reply } | undefined;
  return {
    ask(question) {
      if (ended) return Promise.resolve(ended.reply);
      count += 1;
      const requestId = `r${count}`;
      return new Promise((resolve, reject) => {
        waiting.set(requestId, resolve);
        try {
          send({ ...question, requestId });
        } catch (error) {
          waiting.delete(requestId);
          reject(error);
        }
      });
    },
    deliver(requestId, reply) {
      const resolve = waiting.get(requestId);
      if (!resolve) return onUnclaimed(requestId);
      waiting.delete(requestId);
      resolve(reply);
    },
    failAll(reply) {
      ended = { reply };
      for (const resolve of waiting.values()) resolve(reply);
      waiting.clear();
    },
    get pending() {
      return waiting.size;
    },
  };
}
