/** What a PromQL expression reads, by Prometheus' own grammar. */

import type { SyntaxNode } from "@lezer/common";
import { parser } from "@prometheus-io/lezer-promql";

export interface Matcher {
  readonly label: string;
  readonly operator: string;
  readonly value: string;
}

export interface Selector {
  readonly metric: string;
  readonly matchers: readonly Matcher[];
  /** As written, such as `6h`; undefined without one. */
  readonly range: string | undefined;
  readonly offset: string | undefined;
  /** The functions and aggregations around it, the innermost first. */
  readonly functions: readonly string[];
}

export interface PromQuery {
  readonly selectors: readonly Selector[];
  /** Labels of `by`, `without`, `on` and the like. */
  readonly grouping: readonly string[];
}

/** @throws Error at what the grammar does not know */
export function parsePromQl(text: string): PromQuery {
  const selectors: Selector[] = [];
  const grouping: string[] = [];
  const textOf = ({ from, to }: { from: number; to: number }) => text.slice(from, to);
  const tree = parser.parse(text);
  tree.iterate({
    enter: (node) => {
      if (node.type.isError) {
        throw new Error(`not PromQL at ${node.from}: ${text.slice(node.from, node.from + 40)}`);
      }
      if (node.name === "VectorSelector") selectors.push(selectorOf(node.node, textOf));
      if (node.name === "GroupingLabels") {
        grouping.push(...node.node.getChildren("LabelName").map(textOf));
      }
    },
  });
  return { selectors, grouping };
}

function selectorOf(node: SyntaxNode, textOf: (node: SyntaxNode) => string): Selector {
  const name = node.getChild("Identifier");
  if (name === null) throw new Error(`a selector without a name: ${textOf(node)}`);
  const matchers = node.getChild("LabelMatchers")?.getChildren("UnquotedLabelMatcher") ?? [];
  const functions: string[] = [];
  const ranged = node.parent?.name === "MatrixSelector" ? node.parent : null;
  const moved = (ranged ?? node).parent;
  const span = (literal: SyntaxNode | null | undefined) =>
    literal == null ? undefined : textOf(literal);
  for (let outer = node.parent; outer !== null; outer = outer.parent) {
    const called = outer.getChild("FunctionIdentifier") ?? outer.getChild("AggregateOp");
    if (called !== null) functions.push(textOf(called));
  }
  return {
    metric: textOf(name),
    matchers: matchers.map((one) => matcherOf(one, textOf)),
    range: span(ranged?.getChild("DurationExpr")),
    offset: span(moved?.getChild("OffsetDurationExpr")),
    functions,
  };
}

function matcherOf(node: SyntaxNode, textOf: (node: SyntaxNode) => string): Matcher {
  const part = (name: string): string => {
    const child = node.getChild(name);
    if (child === null) throw new Error(`a matcher without ${name}: ${textOf(node)}`);
    return textOf(child);
  };
  const value: unknown = JSON.parse(part("StringLiteral"));
  return { label: part("LabelName"), operator: part("MatchOp"), value: String(value) };
}
