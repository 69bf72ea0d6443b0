/**
 * Functions that the libraries use and Node 20 lacks. The services run on Node 24; this command
 * also runs in users' projects, from Node 20.19 on. main.ts imports this file first.
 */
if (typeof Map.groupBy !== 'function') {
  Map.groupBy = <K, T>(items: Iterable<T>, keyOf: (item: T, index: number) => K): Map<K, T[]> => {
    const groups = new Map<K, T[]>();
    let index = 0;
    for (const item of items) {
      const key = keyOf(item, index++);
      const group = groups.get(key);
      if (group) group.push(item);
      else groups.set(key, [item]);
    }
    return groups;
  };
}

if (typeof Promise.withResolvers !== 'function') {
  Promise.withResolvers = <T>(): PromiseWithResolvers<T> => {
    const made = {} as PromiseWithResolvers<T>;
    made.promise = new Promise<T>((resolve, reject) => Object.assign(made, { resolve, reject }));
    return made;
  };
}

export {};
