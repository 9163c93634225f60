/** `fetch` with one time limit for head and body, and a bound on the body's size. */

interface TimeLimit {
  readonly timeoutMs: number;
  /** Ends the work early; the call then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

interface FetchLimits extends TimeLimit {
  readonly maxBytes: number;
}

/** The part of a `Response` that is read. Without a stream, `text` is called and its size not bounded. */
interface FetchedResponse<Headers> {
  readonly status: number;
  readonly headers: Headers;
  readonly body?: Response["body"];
  text(): Promise<string>;
}

interface FetchedText<Headers> {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export class TimeLimitError extends Error {
  override readonly name = "TimeLimitError";
}

export class BodyTooLargeError extends Error {
  override readonly name = "BodyTooLargeError";
}

/** Timers fire immediately beyond this. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Sends a request and reads its body.
 *
 * @param send Calls `fetch` with the given signal. It may throw, for instance on a status, to leave the body unread.
 * @throws TimeLimitError if the body is not complete within `timeoutMs`.
 * @throws BodyTooLargeError if the body has more than `maxBytes` bytes.
 */
export function fetchWithin<Headers>(
  limits: FetchLimits,
  send: (signal: AbortSignal) => Promise<FetchedResponse<Headers>>,
): Promise<FetchedText<Headers>> {
  return withTimeLimit(limits, async (signal) => {
    const response = await send(signal);
    const text = await boundedText(response, limits.maxBytes);
    return { status: response.status, headers: response.headers, text };
  });
}

/**
 * Runs work that ends when its signal is aborted: by the time limit or by the caller's signal.
 *
 * Does not use `AbortSignal.any`: Node 20 garbage-collects the composed signal while a request still
 * depends on it, and the time limit is then lost.
 *
 * @throws TimeLimitError if the time limit ended the work.
 */
export async function withTimeLimit<T>(
  { timeoutMs, signal }: TimeLimit,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const abort = (): void => controller.abort(signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  const timer = setTimeout(
    () => controller.abort(new TimeLimitError(`timeout: no complete response in ${timeoutMs} ms`)),
    Math.min(timeoutMs, MAX_TIMER_MS),
  );
  try {
    return await run(controller.signal);
  } catch (error) {
    throw controller.signal.aborted ? controller.signal.reason : error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}

/** The error code of a failed connection, such as ECONNREFUSED; `fetch` puts it one level down. */
export function connectionErrorCode(error: unknown): string | undefined {
  // Not by their classes: in jest modules see another `Error` than the one that Node throws.
  const code = fieldOf(fieldOf(error, "cause"), "code");
  return code === undefined ? undefined : String(code);
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

/**
 * The bytes of a response's body. Without a stream, `arrayBuffer` is called and its size not bounded.
 *
 * @throws BodyTooLargeError if the body has more than `maxBytes` bytes.
 */
export async function boundedBytes(
  response: { readonly body?: Response["body"]; arrayBuffer(): Promise<ArrayBuffer> },
  maxBytes: number,
): Promise<Uint8Array> {
  if (response.body === undefined || response.body === null) {
    return new Uint8Array(await response.arrayBuffer());
  }
  const chunks: Uint8Array[] = [];
  for await (const chunk of chunksWithin(response.body, maxBytes)) chunks.push(chunk);
  const bytes = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

async function boundedText(response: FetchedResponse<unknown>, maxBytes: number): Promise<string> {
  if (response.body === undefined || response.body === null) return response.text();
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of chunksWithin(response.body, maxBytes)) {
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

async function* chunksWithin(
  body: NonNullable<Response["body"]>,
  maxBytes: number,
): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    bytes += value.byteLength;
    if (bytes > maxBytes) {
      await reader.cancel();
      throw new BodyTooLargeError(`the response has more than ${maxBytes} bytes`);
    }
    yield value;
  }
}
