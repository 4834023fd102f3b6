// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title ICollectionFactory
/// @notice Creates collections as clones (ERC-1167) with immutable arguments, at predictable addresses (CREATE2).
/// @dev The salt is the request number that the relay appended. The relay runs each number at most once, so a repeated
/// request cannot create a second collection. Clones have no initializer that an attacker could call first.
interface ICollectionFactory {
    /// @notice Emitted when a collection is created.
    /// @param number The request number.
    /// @param collection The collection's address.
    event CollectionCreated(uint256 indexed number, address collection);

    /// @notice Thrown when an account other than the relay creates a collection.
    /// @param caller The caller.
    error FactoryUnauthorizedRelay(address caller);

    /// @notice Thrown when the relay given to the constructor has no code.
    /// @param relay The address without code.
    error FactoryInvalidRelay(address relay);

    /// @notice Thrown when an implementation given to the constructor has no code, is of the wrong kind, or belongs to
    /// another relay.
    /// @param implementation The address.
    error FactoryInvalidImplementation(address implementation);

    /// @notice Thrown when the owner of a new collection is the relay: every operator could then act as the owner.
    /// @param owner The owner.
    error OwnableInvalidOwner(address owner);

    /// @notice Creates an ERC721 collection. Only the relay can call this.
    /// @param args The packed arguments, see {CloneArguments}.
    /// @return collection The collection's address.
    function createERC721(bytes calldata args) external returns (address collection);

    /// @notice Creates an ERC1155 collection. Only the relay can call this.
    /// @param args The packed arguments, see {CloneArguments}.
    /// @return collection The collection's address.
    function createERC1155(bytes calldata args) external returns (address collection);

    /// @notice Predicts the address of an ERC721 collection.
    /// @param number The request number of its creation.
    /// @param args The packed arguments, see {CloneArguments}.
    /// @return The address that {createERC721} gives it.
    function predictERC721(uint256 number, bytes calldata args) external view returns (address);

    /// @notice Predicts the address of an ERC1155 collection.
    /// @param number The request number of its creation.
    /// @param args The packed arguments, see {CloneArguments}.
    /// @return The address that {createERC1155} gives it.
    function predictERC1155(uint256 number, bytes calldata args) external view returns (address);

    /// @notice Returns the relay, the only account that can create collections.
    function relay() external view returns (address);

    /// @notice Returns the implementation that all ERC721 clones delegate to.
    function erc721Implementation() external view returns (address);

    /// @notice Returns the implementation that all ERC1155 clones delegate to.
    function erc1155Implementation() external view returns (address);
}
