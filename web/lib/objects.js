/** What C++ knows by number. Number 0 is nothing. One object has one number, however often it is added. */
export class Objects {
  #all = [undefined];
  #free = [];
  /** By object its number, and how often it was added and not removed. */
  #known = new Map();

  add(object) {
    const known = this.#known.get(object);
    if (known) {
      known.times += 1;
      return known.number;
    }
    const number = this.#free.pop() ?? this.#all.length;
    this.#all[number] = object;
    this.#known.set(object, { number, times: 1 });
    return number;
  }

  get(number) {
    return this.#all[number];
  }

  remove(number) {
    const object = this.#all[number];
    if (number === 0 || object === undefined) return;
    const known = this.#known.get(object);
    known.times -= 1;
    if (known.times > 0) return;
    this.#known.delete(object);
    this.#all[number] = undefined;
    this.#free.push(number);
  }

  /** How many there are, for tests. */
  get count() {
    return this.#known.size;
  }
}
