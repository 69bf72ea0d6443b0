import {
  AlertTriangle,
  Ban,
  CheckCircle2,
  CircleDashed,
  Clock,
  Loader,
  type LucideIcon,
  MinusCircle,
  XCircle,
} from 'lucide-react';

const kinds: Record<string, [LucideIcon, string]> = {
  succeeded: [CheckCircle2, 'text-done'],
  failed: [XCircle, 'text-failed'],
  stalled: [AlertTriangle, 'text-failed'],
  running: [Loader, 'text-accent'],
  queued: [Clock, 'text-waiting'],
  stored: [MinusCircle, 'text-person'],
  cancelled: [Ban, 'text-n10'],
};

/** A status as icon and word, never as colour alone. */
export function Status({ status, text }: { status: string; text: string }) {
  const [Icon, colour] = kinds[status] ?? [CircleDashed, 'text-n10'];
  return (
    <span className={`inline-flex items-center gap-1 whitespace-nowrap ${colour}`}>
      <Icon aria-hidden size={14} strokeWidth={2} />
      {text}
    </span>
  );
}
