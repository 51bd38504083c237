// Starts the script.

root.classList.add('live');
readRows();
wireLegend();
layOut();
if (data.worst) putBar(data.worst.start, data.worst.text);
drawNow();
window.addEventListener('resize', layOut);
root.addEventListener('wheel', onWheel, { passive: false });
root.addEventListener('pointerdown', onDown);
root.addEventListener('pointermove', onMove);
root.addEventListener('pointerup', onUp);
root.addEventListener('pointercancel', onUp);
window.addEventListener('keydown', onKey);
