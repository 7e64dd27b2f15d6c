// Which nodes of a DAG are to be seen: the question, all ways to what is marked, and what was unfolded.

export class Folding {
  constructor(size, edges) {
    this.parts = Array.from({ length: size }, () => []);
    for (const [parent, child] of edges) if (!this.parts[parent].includes(child)) this.parts[parent].push(child);
    this.begin(new Set());
  }

  // marked: nodes to be seen from the start; without any the first layer is
  begin(marked) {
    this.leads = this.parts.map(() => false); // [node] marked, or on the way to one that is
    for (let node = this.parts.length - 1; node >= 0; node--) this.leads[node] = marked.has(node) || this.parts[node].some((part) => this.leads[part]);
    this.open = new Set(this.leads[0] && this.parts[0].some((part) => this.leads[part]) ? [] : [0]);
  }

  unfoldAll() {
    this.open = new Set(this.parts.keys());
  }

  toggle(node) {
    if (!this.open.delete(node)) this.open.add(node);
  }

  reveal(node) { // unfold whatever hides it
    for (let guard = 0; !this.seen().has(node) && guard < this.parts.length; guard++) {
      const seen = this.seen();
      const whole = [...seen].find((each) => this.below(each, seen).has(node));
      this.open.add(whole);
    }
  }

  // visible nodes, parents first
  seen() {
    const found = new Set([0]);
    for (const node of this.parts.keys()) {
      if (found.has(node)) for (const part of this.parts[node]) if (this.open.has(node) || this.leads[part]) found.add(part);
    }
    return found;
  }

  // what is hidden below a node, not below another that can be seen
  below(node, seen) {
    const found = new Set(this.parts[node].filter((part) => !seen.has(part)));
    for (const each of found) for (const part of this.parts[each]) if (!seen.has(part)) found.add(part);
    return found;
  }

  // whether folding would hide something
  folds(node) {
    return this.open.has(node) && this.parts[node].some((part) => !this.leads[part]);
  }
}
