/**
 * Just enough of a TypeScript lexer for the boundary check.
 *
 * The compiler has no JavaScript interface from version 7 on, so one expression separates comments
 * and literals from code. It must never take a word in a comment for code, or the reverse.
 */

const COMMENT_OR_LITERAL =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`/g;

/** The code with comments gone; strings stay, for imports are strings. */
function withoutComments(text) {
  return text.replaceAll(COMMENT_OR_LITERAL, (match) => (match.startsWith("/") ? " " : match));
}

/** The code with comments gone and literals emptied; what a template computes is kept. */
export function withoutCommentsAndStrings(text) {
  return text.replaceAll(COMMENT_OR_LITERAL, (match) => {
    if (match.startsWith("/")) return " ";
    if (!match.startsWith("`")) return '""';
    return [...match.matchAll(/\$\{([^}]*)\}/g)].map(([, code]) => `(${code})`).join("+") || '""';
  });
}

/** Every module a file names: static, re-exported, side-effect, dynamic and type imports. */
export function importsOf(text) {
  const code = withoutComments(text);
  const patterns = [
    /\b(?:import|export)\b[^"'`;]*?\bfrom\s*["']([^"']+)["']/g,
    /\bimport\s*["']([^"']+)["']/g,
    /\b(?:import|require)\s*\(\s*["'`]([^"'`]+)["'`]/g,
  ];
  return patterns.flatMap((pattern) => [...code.matchAll(pattern)].map(([, name]) => name));
}
