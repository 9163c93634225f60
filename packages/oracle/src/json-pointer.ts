/** RFC 6901: the path of a value in a JSON document, such as `/data/0/price`. */

/** The value, or undefined if the document has none at that path. */
export function valueAtPointer(document: unknown, pointer: string): unknown {
  let value = document;
  for (const token of pointer.split("/").slice(1)) {
    const key = token.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof value !== "object" || value === null) return undefined;
    if (Array.isArray(value) && !/^(?:0|[1-9][0-9]*)$/.test(key)) return undefined;
    if (!Object.hasOwn(value, key)) return undefined;
    value = Reflect.get(value, key);
  }
  return value;
}
