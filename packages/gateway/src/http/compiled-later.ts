/**
 * Code that is compiled from schemas at first use, or one piece at a time after the start: a hundred
 * schemas before the start, or in one turn after it, take half a second.
 */

const waiting: (() => unknown)[] = [];

/** Compiles when the result is first asked for, and once. */
export function compiledLater<T>(compile: () => T): () => T {
  let compiled: { readonly result: T } | undefined;
  const get = (): T => {
    compiled ??= { result: compile() };
    return compiled.result;
  };
  waiting.push(get);
  return get;
}

const COMPILE_EVERY_MS = 50;

/** Compiles what is left, so that few first requests have to. */
export function compileSoon(): void {
  const compile = waiting.shift();
  if (compile === undefined) return;
  compile();
  setTimeout(compileSoon, COMPILE_EVERY_MS).unref();
}
