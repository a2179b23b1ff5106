internal import Synchronization

/// Objects that all users of a store share, one of each type. They live as long as the store.
final class SharedObjects: Sendable {
    /// Guards the objects by type.
    private let objects = Mutex<[ObjectIdentifier: any AnyObject & Sendable]>([:])

    func object<Object: AnyObject & Sendable>(_ make: () -> Object) -> Object {
        objects.withLock { objects in
            let id = ObjectIdentifier(Object.self)
            if let object = objects[id] as? Object { return object }
            let object = make()
            objects[id] = object
            return object
        }
    }
}

extension ResponseStore {
    /// Returns the object of this type that all users of the store share. The first call makes the object.
    ///
    /// - Parameter make: Must not use the store.
    package func shared<Object: AnyObject & Sendable>(_ make: () -> Object) -> Object {
        sharedObjects.object(make)
    }
}
