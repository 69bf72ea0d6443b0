import type { LinkProps } from '@tanstack/react-router';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTexts } from '../../i18n';

/** Rules as sentences; numbered from 0 where messages name the position of a rule. */
export function Sentences({
  sentences,
  isNumbered = false,
}: {
  sentences: readonly ReactNode[];
  isNumbered?: boolean;
}) {
  return (
    <ol className="divide-y divide-n4 border-y border-n4">
      {sentences.map((sentence, at) => (
        <li key={at} className="flex py-1.5">
          {isNumbered && <span className="w-8 shrink-0 text-n10 tabular-nums">{at}</span>}
          <span className="min-w-0">{sentence}</span>
        </li>
      ))}
    </ol>
  );
}

/** Names such as slugs, each of which may lead somewhere. */
export function Names({
  names,
  linkOf,
}: {
  names: readonly string[];
  linkOf?: (name: string) => LinkProps | null;
}) {
  const { states } = useTexts();
  if (names.length === 0) return <span className="text-n10">{states.none}</span>;
  const look = 'inline-flex items-center rounded bg-n3 px-1.5 py-0.5 font-mono text-xs';
  return (
    <ul className="flex flex-wrap gap-1">
      {names.map((name) => {
        const link = linkOf?.(name) ?? null;
        return (
          <li key={name}>
            {link === null ? (
              <span className={look}>{name}</span>
            ) : (
              <Link {...link} className={`${look} tap text-accent hover:bg-n4`}>
                {name}
              </Link>
            )}
          </li>
        );
      })}
    </ul>
  );
}
