import { Search } from 'lucide-react';
import { type RefObject, useEffect, useRef, useState } from 'react';

/** Searches 250 ms after the last key. */
export function SearchBox({
  box,
  value,
  onChange,
  label,
}: {
  box: RefObject<HTMLInputElement | null>;
  value: string;
  onChange: (text: string) => void;
  label: string;
}) {
  const [text, setText] = useState(value);
  const change = useRef(onChange);
  change.current = onChange;
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => change.current(text), 250);
    return () => clearTimeout(timer);
  }, [text, value]);
  return (
    <span className="relative min-w-0 flex-1">
      <Search aria-hidden size={14} className="absolute top-1/2 left-2 -translate-y-1/2 text-n10" />
      <input
        ref={box}
        type="search"
        aria-label={label}
        placeholder={label}
        value={text}
        maxLength={200}
        onChange={({ target }) => setText(target.value)}
        className="tap h-8 w-full rounded border border-n7 bg-n1 pr-2 pl-7"
      />
    </span>
  );
}
