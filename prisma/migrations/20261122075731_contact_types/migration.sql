-- AlterTable
ALTER TABLE "channel_connections" ADD COLUMN     "contact_type" TEXT;
