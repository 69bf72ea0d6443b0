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
  active: [CheckCircle2, 'text-done'],
  expiring: [Clock, 'text-waiting'],
  expired: [Ban, 'text-n10'],
  revoked: [Ban, 'text-n10'],
  open: [Clock, 'text-waiting'],
  accepted: [CheckCircle2, 'text-done'],
  connected: [CheckCircle2, 'text-done'],
  pending: [Clock, 'text-waiting'],
  missing: [AlertTriangle, 'text-waiting'],
  off: [MinusCircle, 'text-n10'],
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
